"""`python -m graphtrial` is `graphtrial`."""

import sys

if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # the current folder: `graphtrial` does not import what lies there, and neither does this

    from graphtrial.cli.start import main

    main()
