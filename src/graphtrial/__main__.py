"""`python -m graphtrial` is `graphtrial`."""

from graphtrial.cli import main

if __name__ == "__main__":
    main()
