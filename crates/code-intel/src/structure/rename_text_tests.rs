//! Python names that a program spells in texts or computes: such renames must not be sure. Marks are those of
//! `rename_tests`.

use super::rename_tests::{all_renamed_in, none_sure};

/// Checks single files of Python that must not be renamed as sure; all wrong ones are told at once.
fn none_sure_in(texts: &[&str]) {
    for text in texts {
        none_sure(&[&[("a.py", text)]]);
    }
}

#[test]
fn attributes_in_format_strings_are_not_sure() {
    none_sure_in(&[
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '%(n)s' % self.__dict__\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '{0.n}'.format(self)\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '{.n}'.format(self)\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '{me.n!r:>4}'.format(me=self)\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '{a[0].n.real}'.format(a=[self])\n",
        "FORM = '<{0.n}>'\nclass A:\n    <|>n = 1\ndef s(a: A):\n    return FORM.format(a)\n",
        "FORM = '%(n)d'\nclass A:\n    <|>n = 1\ndef s(a: A):\n    return FORM % vars(a)\n",
        "class A:\n    <|>n = 1\ndef s(a: A):\n    return '{n}'.format(**vars(a))\n",
        "class A:\n    <|>n = 1\ndef s(a: A):\n    return '{n:>3}'.format_map(a.__dict__)\n",
        "from string import Template\nclass A:\n    <|>n = 1\ndef s(a: A):\n    return Template('$n and more').substitute(vars(a))\n",
        "from string import Template\nFORM = Template('${n}')\nclass A:\n    <|>n = 1\ndef s(a: A):\n    return FORM.substitute(vars(a))\n",
        "from jinja2 import Template\nclass A:\n    <|>n = 1\ndef s(a: A):\n    return Template('{{ a.n }}').render(a=a)\n",
        "import logging\nclass A:\n    @property\n    def <|>n(self): return 1\ndef s(a: A):\n    logging.info('{x.n}', extra={'x': a})\n",
    ]);
    none_sure(&[
        &[
            ("forms.py", "ROW = '{row.n}'\n"),
            (
                "a.py",
                "import forms\nclass A:\n    <|>n = 1\ndef s(a: A):\n    return forms.ROW.format(row=a)\n",
            ),
        ],
        &[
            ("templates/a.html", "<p>{{ a.n }}</p>\n"),
            ("a.py", "class A:\n    <|>n = 1\ndef s(a: A):\n    return render('a.html', a=a)\n"),
        ],
    ]);
}

#[test]
fn attributes_whose_names_are_texts_or_computed_are_not_sure() {
    none_sure_in(&[
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return self.__dict__['n']\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\ndef s(a: A):\n    return a.__dict__.get('n')\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\ndef s(a: A):\n    return vars(a)['n']\n",
        "class A:\n    def __init__(self, **more):\n        self.<|>n = 1\n        self.__dict__.update(more)\nA(n=2)\n",
        "class A:\n    <|>n = 1\n    def __init__(self, **more):\n        for k, v in more.items():\n            setattr(self, k, v)\nA(n=2)\n",
        "class A:\n    <|>n = 1\n    def s(self, name):\n        return getattr(self, name)\n",
        "class A:\n    def <|>on_key(self): pass\n    def s(self, name):\n        return getattr(self, 'on_' + name)()\n",
        "class A:\n    def <|>on_key(self): pass\ndef s(a, name):\n    return getattr(a, f'on_{name}')()\n",
        "class A:\n    def <|>on_key(self): pass\ndef s(a, name):\n    return getattr(a, 'on_%s' % name)()\n",
        "class A:\n    def <|>on_key(self): pass\ndef s(a, name):\n    return getattr(a, 'on_{}'.format(name), None)()\n",
        "class A:\n    def <|>key_seen(self): pass\ndef s(a, name):\n    return getattr(a, f'{name}_seen')()\n",
        "class A:\n    <|>n = 1\ndef s(a):\n    return [getattr(a, f) for f in ('m', 'n')]\n",
        "FIELDS = ['n', 'm']\nclass A:\n    def __init__(self):\n        self.<|>n = 1\ndef s(a):\n    for name in FIELDS:\n        yield getattr(a, name)\n",
        "from operator import attrgetter\nclass A:\n    <|>n = 1\nprint(sorted(g(), key=attrgetter('n')))\n",
        "import operator\nclass A:\n    <|>n = 1\nclass B:\n    a = A()\nprint(sorted(g(), key=operator.attrgetter('a.n', 'm')))\n",
        "from operator import methodcaller\nclass A:\n    def <|>go(self): pass\nprint(list(map(methodcaller('go'), g())))\n",
        "class A:\n    def __init__(self):\n        object.__setattr__(self, 'n', 1)\n        self.<|>n = 1\n",
        "class A:\n    __slots__ = 'n'\n    def __init__(self):\n        self.<|>n = 1\n",
        "class A:\n    __slots__ = 'm n'.split()\n    def __init__(self):\n        self.<|>n = 1\n",
        "class A:\n    __slots__: tuple[str, ...] = ('m', 'n')\n    def __init__(self):\n        self.<|>n = 1\n",
        "class B:\n    __slots__ = ()\nclass A(B):\n    __slots__ = B.__slots__ + (\n        'm',\n        'n',\n    )\n    def __init__(self):\n        self.<|>n = 1\n",
        "class B:\n    def all(self):\n        return {k: getattr(self, k) for k in dir(self)}\nclass A(B):\n    <|>n = 1\n",
        "class A:\n    <|>n = 1\nclass B(A):\n    def s(self, name):\n        return getattr(self, name)\n",
        "from dataclasses import dataclass, asdict\n@dataclass\nclass A:\n    <|>n: int = 1\nprint(asdict(A())['n'])\n",
        "from dataclasses import dataclass, fields\n@dataclass\nclass A:\n    <|>n: int = 1\nprint([f for f in fields(A) if f.name == 'n'])\n",
        "import json\nclass A:\n    def __init__(self):\n        self.<|>n = 1\n    def save(self):\n        return json.dumps(vars(self))\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def __eq__(self, other):\n        return type(self).m == getattr(type(self), other.name)\n",
    ]);
    none_sure(&[&[
        ("show.py", "def show(x, name):\n    print(getattr(x, name))\n"),
        ("a.py", "from show import show\nclass A:\n    <|>n = 1\nshow(A(), 'n')\n"),
    ]]);
}

#[test]
fn variables_that_python_reaches_by_text_are_not_sure() {
    none_sure_in(&[
        "def f(<|>x):\n    return '{x}'.format(**locals())\n",
        "def f():\n    <|>x = 1\n    return '%(x)s' % locals()\n",
        "def f():\n    <|>x = 1\n    return '%(x)s' % vars()\n",
        "def f():\n    <|>x = 1\n    return eval('x + 1')\n",
        "def f():\n    <|>x = 1\n    return render('a.html', **locals())\n",
        "<|>x = 1\nprint(globals()['x'])\n",
        "<|>x = 1\ndef f(name):\n    return globals()[name]\n",
        "<|>x = 1\nprint('%(x)s' % globals())\n",
        "import sys\ndef <|>on_key(): pass\ndef f(name):\n    return getattr(sys.modules[__name__], 'on_' + name)\n",
        "import sys\ndef <|>key(): pass\ndef f(name):\n    return getattr(sys.modules[__name__], name)\n",
        "def <|>key(): pass\ndef f(text):\n    return eval(text)\n",
    ]);
}

#[test]
fn texts_that_cannot_mean_a_python_name_leave_it_sure() {
    let sure = [
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return f'{self.@@n}'\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '%(n)s' % {'n': self.@@n}\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self):\n        return '{n}'.format(n=self.@@n)\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\n    def s(self, d):\n        return d['n'] + self.@@n\n",
        "class A:\n    def __init__(self):\n        self.<|>n = 1\ndef s(a: A, b):\n    return getattr(b, 'on_' + 'm') + a.@@n\n",
        "class A:\n    def <|>go(self): pass\nclass B:\n    def s(self, name):\n        return getattr(self, name)\nA().@@go()\n",
        "class A:\n    def <|>go(self): pass\n    def s(self):\n        return str(self.__dict__)\nA().@@go()\n",
        "def f():\n    <|>x = 1\n    return @@x\ndef g():\n    x = 2\n    return locals()\n",
        "<|>x = 1\ny = 2\nprint(globals()['y'], @@x)\n",
    ];
    for text in sure {
        all_renamed_in(&[&[("a.py", text)]]);
    }
}
