# placeholder until the house is built
