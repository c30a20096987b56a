// An inventory. An order names an article that was renamed.
#include <iostream>
#include <map>
#include <string>
#include <vector>

struct Order {
    std::string article;
    int count;
};

int price_of(const std::map<std::string, int> &prices, const std::string &article) {
    return prices.at(article); // BUG
}

int main() {
    std::map<std::string, int> prices{{"lamp", 30}, {"chair", 45}};
    std::vector<Order> orders{{"lamp", 2}, {"stool", 1}};
    int sum = 0;
    for (const Order &order : orders) {
        sum += order.count * price_of(prices, order.article);
    }
    std::cout << sum << std::endl;
    return 0;
}
