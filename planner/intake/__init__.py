"""Files that other people fill in: vendors' quotes and edited workbooks, as plain data for a plan."""
