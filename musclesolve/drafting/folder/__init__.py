"""What a folder holds: recordings, plates, channels of EMG, files of OpenSim, and which file plays which role."""
