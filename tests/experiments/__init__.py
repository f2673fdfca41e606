"""Tests of the experiments at tiny sizes."""
