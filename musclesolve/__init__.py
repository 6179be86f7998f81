"""musclesolve: from recorded motion and ground forces to the force of every muscle of the legs."""
