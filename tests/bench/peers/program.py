"""The program that runs this."""
import sys

print(sys.executable)
