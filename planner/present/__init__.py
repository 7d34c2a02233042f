"""An evaluation in, text, workbook, HTML and JSON out."""
