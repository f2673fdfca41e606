"""Tests of the network and its inputs."""
