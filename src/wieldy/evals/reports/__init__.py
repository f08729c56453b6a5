"""What trials add up to: rows with denominators and intervals, comparisons, changes over time, text and a page.

Begin with `reporting`. Below: `studies`.
"""
