"""An independent model of what a section may hold, and what checks the assembler against it."""
