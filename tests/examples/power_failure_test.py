#!/usr/bin/env python3
"""The test of a power failure loses the note, and not the payment."""
from example import ExampleTest, main


class PowerFailureTest(ExampleTest):

    def test_prints_the_loss(self):
        text = self.run_example()
        self.assertEqual(text, "payment 1: there\nnote 1: lost\n")
        self.check_page(text)


if __name__ == "__main__":
    main()
