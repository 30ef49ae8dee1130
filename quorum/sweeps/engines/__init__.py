"""What runs the cells of a sweep: worker processes on this machine, Ray, Slurm."""
