def work(rounds):
    total = 0
    orders = [{"id": number, "customer": "customer%d" % number, "lines": ["a", "b", str(number)]} for number in range(50)]
    note = "n" * 200
    for number in range(rounds):
        total += number
        total -= 1
        total += 2
    return total, orders, note


def main():
    print("begin")
    print("end", work(100000)[0])


main()
