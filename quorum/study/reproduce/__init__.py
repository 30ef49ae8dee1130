"""Answers the questions of papers: runs what a published figure shows, and says point by point what agrees."""
