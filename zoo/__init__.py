"""What each model is: card, generator, density, references, test quantities; corpora; inference."""
