from tandem import program

program.run()
