"""Libraries of prompts: the file that names plugins and libraries, and what they serve."""
