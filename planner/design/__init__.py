"""Fabric, cabling, racks and the bill of materials."""
