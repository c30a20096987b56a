"""Adds up invoices. One customer has no discount, and that is forgotten on the way."""

DISCOUNTS = {"ada": 0.1, "grace": 0.25}


def discount_for(customer):
    return DISCOUNTS.get(customer)


def total(lines, customer):
    net = sum(price * count for price, count in lines)
    discount = discount_for(customer)
    return net - net * discount  # BUG


def main():
    orders = {
        "ada": [(12.5, 2), (3.0, 4)],
        "alan": [(99.0, 1)],
    }
    for customer, lines in orders.items():
        print(customer, total(lines, customer))


if __name__ == "__main__":
    main()
