"""From dumps of Wikipedia to a dataset of the kind of Wiki-CS (Mernyei and Cangea 2020), one file per stage."""
