"""Ways to launder data by what an analysis of code could overlook, every one of which is noticed."""

from __future__ import annotations

from typing import Final

import pytest

from wieldy.sandbox.tracked import Answer, Calls, Done, Failed, Reply, Tracked, TrackedCall

PAGE: Final = {"title": "Hi", "n": 3, "lines": ["eve", "b"], "to": "eve", "urgent": True}
WEB: Final = frozenset({"web"})
TOOLS: Final = {"fetch": ("url",), "contacts": (), "send": ("to", "body")}

CHOSEN: Final = {
    "a copy of a chosen dict": (
        "p = await fetch('u')\nT={c:{'c':c} for c in 'abcdefghijklmnopqrstuvwxyz@.'}\nto=''\ni=0\nwhile i<3:\n"
        "    to+=dict(T[p['to'][i]])['c']\n    i+=1\nawait send(to,'x')"
    ),
    "a copy of the greatest dict": (
        "p = await fetch('u')\nrows=[{'to':'ann','k':1},{'to':'bob','k':2}]\n"
        "best=dict(max(rows,key=lambda r: r['k']*(1 if p['n']>100 else -1)))\nawait send(best['to'],'x')"
    ),
    "a copy of a dict that a branch has chosen": (
        "p = await fetch('u')\nd={'to':'bob'}\ne={'to':'ann'}\nif p['urgent']:\n    d=e\nf=dict(d)\n"
        "await send(f.to,'x')"
    ),
    "a copy of what a function returns": (
        "p = await fetch('u')\ndef pick():\n    if p['urgent']:\n        return {'to':'ann'}\n"
        "    return {'to':'bob'}\nawait send(dict(pick())['to'],'x')"
    ),
    "a copy that decides": (
        "p = await fetch('u')\nd=dict({'go':True} if p['urgent'] else {'go':False})\nif d['go']:\n"
        "    await send('bob','x')"
    ),
    "a tuple of one type": (
        "p = await fetch('u')\nif isinstance('a',((str if p['urgent'] else int),)):\n    await send('bob','x')"
    ),
    "a tuple of one type that is kept": (
        "p = await fetch('u')\nt=((str if p['urgent'] else int),)\n"
        "await send('ann' if isinstance('a',t) else 'bob','x')"
    ),
}
"""Which dict it was, or which type, is a part of what is made of it."""

HELD: Final = {
    "a list in an exception": (
        "p = await fetch('u')\nout=['bob']\ne=ValueError(out)\ndef f():\n    e.args[0].insert(0,'ann')\n"
        "if p['n']>100:\n    f()\nawait send(out[0],'x')"
    ),
    "a list in an exception that a tool's failure is": (
        "p = await fetch('u')\nout=['bob']\nt=ToolError(out)\nif p['n']>100:\n    t.args[0].insert(0,'ann')\n"
        "await send(out[0],'x')"
    ),
    "a list in an exception, for each address": (
        "p = await fetch('u')\ncs=['bob','eve','ann']\nfor c in cs:\n    box=[c]\n    e=ValueError(box)\n"
        "    if p['to']!=c:\n        e.args[0].insert(0,'nobody')\n    try:\n        await send(box[0],'x')\n"
        "    except ToolError:\n        pass"
    ),
    "a list in an exception in the key of a sort": (
        "p = await fetch('u')\nout=['bob']\ne=ValueError(out)\n"
        "sorted([1,2],key=lambda k: (e.args[0].insert(0,'ann') if p['n']>100 else 0) or k)\n"
        "await send(out[0],'x')"
    ),
    "a function in an exception": (
        "p = await fetch('u')\ndef mk():\n    o=['bob']\n    def ins():\n        o.insert(0,'ann')\n"
        "    def get():\n        return o\n    return [ValueError(ins), get]\nm=mk()\nif p['n']>100:\n"
        "    m[0].args[0]()\nawait send(m[1]()[0],'x')"
    ),
    "a function in an exception that binds a global name": (
        "p = await fetch('u')\nto='bob'\ndef f():\n    global to\n    to='ann'\ne=ValueError(f)\n"
        "if p['n']>100:\n    e.args[0]()\nawait send(to,'x')"
    ),
    "a chosen container in an exception": (
        "p = await fetch('u')\ne=ValueError(['bob'])\nx=['q']\n"
        "(e.args[0] if p['n']>100 else x).insert(0,'ann')\nawait send(e.args[0][0],'x')"
    ),
    "a generator that is not at its end": (
        "p = await fetch('u')\nout=['bob']\nsrc=[out]\ngen=(x.insert(0,'ann') for x in src)\nsrc=None\n"
        "if p['n']>100:\n    for q in gen:\n        pass\nawait send(out[0],'x')"
    ),
    "a generator in a handler": (
        "p = await fetch('u')\nout=['bob']\nsrc=[out]\ng=(x.insert(0,'ann') for x in src)\nsrc=None\ntry:\n"
        "    int(p['n']) or 1\n    x=p['title']+1 if p['n']>100 else 0\nexcept TypeError:\n    list(g)\n"
        "await send(out[0],'x')"
    ),
    "what a loop is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[lambda: 0, lambda: out.insert(0,'ann')]]\n"
        "for f in box.pop():\n    f()\n    if p['n']<100:\n        break\nawait send(out[0],'x')"
    ),
    "what a comprehension is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[[0],out]]\n"
        "[x.insert(0,'ann') for x in box.pop() if p['n']>100]\nawait send(out[0],'x')"
    ),
    "what an outer loop of a comprehension is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[out]]\n"
        "[x.insert(0,'ann') for x in box.pop() for y in p['lines'][:0]]\nawait send(out[0],'x')"
    ),
    "the receiver of a call that fails": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ntry:\n    box.pop().insert(0, 1//(p['n']-3) or 'ann')\n"
        "except ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "the callee of a call that fails": (
        "p = await fetch('u')\nout=['bob']\nbox=[lambda q: out.insert(0,'ann')]\ntry:\n"
        "    box.pop()(1//(p['n']-3))\nexcept ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "an exception on its way through a finally": (
        "p = await fetch('u')\nout=['bob']\nbox=[ValueError(out)]\ndef f():\n    try:\n"
        "        raise box.pop()\n    finally:\n        if p['n']<100:\n            return 1\ntry:\n    f()\n"
        "except ValueError as e:\n    e.args[0].insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "an exception that is raised again": (
        "p = await fetch('u')\nout=['bob']\nbox=[ValueError(out)]\ntry:\n    try:\n        raise box.pop()\n"
        "    except ValueError:\n        if p['n']>100:\n            raise\nexcept ValueError as e:\n"
        "    e.args[0].insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "a method that is taken in the branch": (
        "p = await fetch('u')\nout=['bob']\nif p['n']>100:\n    m=out.insert\n    m(0,'ann')\nawait send(out[0],'x')"
    ),
    "a method that is handed on": (
        "p = await fetch('u')\nout=['bob']\nif p['n']>100:\n    list(map(out.append,['ann']))\nawait send(out[-1],'x')"
    ),
    "a return that a finally may replace": (
        "p = await fetch('u')\ndef f():\n    try:\n        return 'ann'\n    finally:\n        if p['n']>100:\n"
        "            return 'bob'\nawait send(f(),'x')"
    ),
}
"""What is held where no name leads to directly could be used on the way that is not taken."""

NAMES: Final = {
    "a def beside a comprehension of the same name": (
        "p = await fetch('u')\ndef g():\n    return 'bob'\nif p['n']>100:\n    def g():\n        return 'ann'\n"
        "    [0 for g in [1]]\nawait send(g(),'x')"
    ),
    "an async def beside a comprehension": (
        "p = await fetch('u')\nasync def g():\n    return 'bob'\nif p['n']>100:\n    async def g():\n"
        "        return 'ann'\n    {g:0 for g in [1]}\nawait send(await g(),'x')"
    ),
    "an import beside a comprehension": (
        "p = await fetch('u')\nfrom math import pi as g\nif p['n']>100:\n    from math import inf as g\n"
        "    [0 for g in [1]]\nawait send(str(g),'x')"
    ),
    "a handler's name beside a comprehension": (
        "p = await fetch('u')\ne='bob'\nif p['n']>100:\n    try:\n        1/0\n"
        "    except ZeroDivisionError as e:\n        [0 for e in [1]]\ntry:\n    e\n    to='bob'\n"
        "except NameError:\n    to='ann'\nawait send(to,'x')"
    ),
    "an element as the target of a comprehension": (
        "p = await fetch('u')\nd=['bob']\nif p['n']>100:\n    [0 for d[0] in ['ann']]\nawait send(d[0],'x')"
    ),
    "a global name that a function binds": (
        "p = await fetch('u')\nout=['bob']\nxs=['q']\ndef swap():\n    global xs\n    xs=out\nif p['n']>100:\n"
        "    swap()\n    xs.insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "a name of an outer function that another one binds": (
        "p = await fetch('u')\ndef f():\n    out=['bob']\n    xs=['q']\n    def swap():\n        nonlocal xs\n"
        "        xs=out\n    if p['n']>100:\n        swap()\n        xs.insert(0,'ann')\n    return out\n"
        "await send(f()[0],'x')"
    ),
    "two functions, of which one binds and one changes": (
        "p = await fetch('u')\nout=['bob']\nxs=['q']\ndef swap():\n    global xs\n    xs=out\ndef put():\n"
        "    xs.insert(0,'ann')\nif p['n']>100:\n    swap()\n    put()\nawait send(out[0],'x')"
    ),
    "two functions and an argument": (
        "p = await fetch('u')\nout=['bob']\ndef swap(q):\n    global xs\n    xs=q\nxs=[1]\ndef put():\n"
        "    xs.insert(0,'ann')\nif p['n']>100:\n    swap(out)\n    put()\nawait send(out[0],'x')"
    ),
    "a function that is called list": (
        "out=['bob']\ndef list(x=0):\n    return out\np = await fetch('u')\nif p['n']>100:\n    ys=list()\n"
        "    ys.insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "a parameter that is called list": (
        "out=['bob']\np = await fetch('u')\ndef f(list):\n    if p['n']>100:\n        ys=list()\n"
        "        ys.insert(0,'ann')\nf(lambda: out)\nawait send(out[0],'x')"
    ),
    "a parameter that is called set": (
        "p = await fetch('u')\ndef f(set):\n    out=['bob']\n    if p['n']>100:\n        y=set(out)\n"
        "        y.insert(0,'ann')\n    return out[0]\nawait send(f(lambda q:q),'x')"
    ),
    "a lambda that is called sorted": (
        "out=['bob']\np = await fetch('u')\nsorted=lambda q: q\nif p['n']>100:\n    ys=sorted(out)\n"
        "    ys.insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "a loop over functions that are called str": (
        "p = await fetch('u')\nout=['bob']\nfor str in [lambda: out]:\n    if p['n']>100:\n        y=str()\n"
        "        y.insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "an import that is called dict": (
        "p = await fetch('u')\nout=['bob']\nfrom asyncio import run as dict\nasync def g():\n    return out\n"
        "if p['n']>100:\n    ys=dict(g())\n    ys.insert(0,'ann')\nawait send(out[0],'x')"
    ),
}
"""Names mean what the code makes them mean."""

WAITING: Final = {
    "a tool that is called at once": (
        "p = await fetch('u')\norder=[]\nasync def a():\n    if p['n']>100:\n        contacts.sync()\n"
        "        contacts.sync()\n    order.append('ann')\nasync def b():\n    await contacts()\n"
        "    order.append('bob')\nawait asyncio.gather(a(),b())\nawait send(order[0],'x')"
    ),
    "a tool that is called at once, as often as data says": (
        "p = await fetch('u')\norder=[]\nasync def a():\n    for i in range(p['n']):\n        contacts.sync()\n"
        "    order.append('ann')\nasync def b():\n    await contacts()\n    await contacts()\n"
        "    order.append('bob')\nawait asyncio.gather(a(),b())\nawait send(order[0],'x')"
    ),
    "asyncio.run in a function": (
        "p = await fetch('u')\norder=[]\ndef g():\n    asyncio.run(contacts())\n    asyncio.run(contacts())\n"
        "async def a():\n    if p['n']<100:\n        g()\n    order.append('ann')\nasync def b():\n"
        "    await contacts()\n    order.append('bob')\nawait asyncio.gather(a(),b())\n"
        "await send(order[0],'x')"
    ),
    "asyncio.run under another name": (
        "p = await fetch('u')\nfrom asyncio import run as go\norder=[]\nasync def w():\n    await contacts()\n"
        "    await contacts()\nasync def a():\n    if p['n']<100:\n        go(w())\n    order.append('ann')\n"
        "async def b():\n    await contacts()\n    order.append('bob')\nawait asyncio.gather(a(),b())\n"
        "await send(order[0],'x')"
    ),
    "asyncio.run that the branch imports": (
        "p = await fetch('u')\norder=[]\nasync def w():\n    await contacts()\n    await contacts()\n"
        "async def a():\n    if p['n']<100:\n        from asyncio import run as go\n        go(w())\n"
        "    order.append('ann')\nasync def b():\n    await contacts()\n    order.append('bob')\n"
        "await asyncio.gather(a(),b())\nawait send(order[0],'x')"
    ),
    "asyncio.run that is bound to a name": (
        "p = await fetch('u')\norder=[]\nasync def w():\n    await contacts()\n    await contacts()\n"
        "async def a():\n    if p['n']<100:\n        g=asyncio.run\n        g(w())\n    order.append('ann')\n"
        "async def b():\n    await contacts()\n    order.append('bob')\nawait asyncio.gather(a(),b())\n"
        "await send(order[0],'x')"
    ),
    "a function that calls a tool at once": (
        "p = await fetch('u')\norder=[]\ndef w():\n    contacts.sync()\n    contacts.sync()\nasync def a():\n"
        "    if p['n']<100:\n        w()\n    order.append('ann')\nasync def b():\n    await contacts()\n"
        "    order.append('bob')\nawait asyncio.gather(a(),b())\nawait send(order[0],'x')"
    ),
    "a generator that calls a tool at once": (
        "p = await fetch('u')\norder=[]\nasync def a():\n"
        "    for q in (contacts.sync() for z in range(p['n'])):\n        pass\n    order.append('ann')\n"
        "async def b():\n    await contacts()\n    order.append('bob')\nawait asyncio.gather(a(),b())\n"
        "await send(order[0],'x')"
    ),
    "a generator that is gone on with": (
        "p = await fetch('u')\norder=[]\ng=(contacts.sync() for z in range(3))\nasync def a():\n"
        "    for q in range(p['n']):\n        next(g)\n    order.append('ann')\nasync def b():\n"
        "    await contacts()\n    await contacts()\n    order.append('bob')\nawait asyncio.gather(a(),b())\n"
        "await send(order[0],'x')"
    ),
    "a tool in a list": (
        "p = await fetch('u')\norder=[]\nfs=[contacts.sync]\nasync def a():\n    if p['n']<100:\n"
        "        fs[0]()\n        fs[0]()\n    order.append('ann')\nasync def b():\n    await contacts()\n"
        "    order.append('bob')\nawait asyncio.gather(a(),b())\nawait send(order[0],'x')"
    ),
    "an order of calls": (
        "p = await fetch('u')\nasync def a():\n    if p['n']<100:\n        contacts.sync()\n"
        "    xs.append('ann')\nasync def b():\n    xs.append('bob')\n    await contacts()\nxs=[]\n"
        "await asyncio.gather(a(),b())\nawait send(xs[0],'x')"
    ),
    "a decision by the order": (
        "p = await fetch('u')\nst={}\nasync def a():\n    if p['n']<100:\n        contacts.sync()\n"
        "        contacts.sync()\n    st['done']=1\nasync def b():\n    await contacts()\n"
        "    if 'done' not in st:\n        await send('bob','x')\nawait asyncio.gather(a(),b())"
    ),
    "a decision by the order, the other way": (
        "p = await fetch('u')\nasync def a():\n    if p['n']<100:\n        contacts.sync()\n    st['done']=1\n"
        "async def b():\n    await contacts()\n    if 'done' in st:\n        await send('bob','x')\nst={}\n"
        "await asyncio.gather(a(),b())"
    ),
    "bits of an address by the order": (
        "p = await fetch('u')\nout=[]\nasync def bit(i):\n    if ord(p['to'][0])>>i&1:\n"
        "        contacts.sync()\n        contacts.sync()\n    out.append(i)\nasync def mark():\n"
        "    await contacts()\n    out.append(99)\nawait asyncio.gather(*[bit(i) for i in range(7)],mark())\n"
        "k=out.index(99)\nearly=out[:k]\nv=sum(1<<i for i in range(7) if i not in early)\n"
        "await send(chr(v),'x')"
    ),
}
"""Several at once go on in an order that depends on who waits, in whatever way."""

IN_USE: Final = {
    "a dict that is being written": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ntry:\n"
        "    {'a': box.pop(), 'b': 1//(p['n']-3)}['a'].insert(0,'ann')\nexcept ZeroDivisionError:\n    pass\n"
        "await send(out[0],'x')"
    ),
    "a list that is being written": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ntry:\n"
        "    [box.pop(), 1//(p['n']-3)][0].insert(0,'ann')\nexcept ZeroDivisionError:\n    pass\n"
        "await send(out[0],'x')"
    ),
    "a list whose element is looked for": (
        "p = await fetch('u')\nout=['bob']\nbox=[[out]]\ntry:\n    box.pop()[1//(p['n']-3)].insert(0,'ann')\n"
        "except ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "a list whose element is to be set": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ntry:\n    box.pop()[1//(p['n']-3)]='ann'\n"
        "except ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "a list whose element is to be changed": (
        "p = await fetch('u')\nout=['bob']\nbox=[[out]]\ntry:\n    box.pop()[0]+=[1//(p['n']-3)]\n"
        "except ZeroDivisionError:\n    pass\nawait send(str(len(out)),'x')"
    ),
    "an argument": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ndef put(x,y):\n    x.insert(0,'ann')\ntry:\n"
        "    put(box.pop(),1//(p['n']-3))\nexcept ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "an argument by name": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ndef put(x,y):\n    x.insert(0,'ann')\ntry:\n"
        "    put(x=box.pop(),y=1//(p['n']-3))\nexcept ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "a function as an argument": (
        "p = await fetch('u')\nout=['bob']\nbox=[lambda q: out.insert(0,'ann')]\ntry:\n"
        "    list(map(box.pop(),[1//(p['n']-3)]))\nexcept ZeroDivisionError:\n    pass\n"
        "await send(out[0],'x')"
    ),
    "arguments that are spread": (
        "p = await fetch('u')\nout=['bob']\nbox=[[out]]\ndef put(x,y):\n    x.insert(0,'ann')\ntry:\n"
        "    put(*box.pop(),1//(p['n']-3))\nexcept ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "what a comprehension has brought": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ntry:\n"
        "    [x.insert(0,'ann') for x in [box.pop() if i==0 else 1//(p['n']-3) for i in range(2)]]\n"
        "except ZeroDivisionError:\n    pass\nexcept AttributeError:\n    pass\nawait send(out[0],'x')"
    ),
    "what is to be unpacked": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\nd=[0]\ntry:\n    d[1//(p['n']-3)], x = 0, box.pop()\n"
        "    x.insert(0,'ann')\nexcept ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "a default": (
        "p = await fetch('u')\nout=['bob']\nbox=[out]\ntry:\n"
        "    f=lambda q=box.pop(), r=1//(p['n']-3): q.insert(0,'ann')\n    f()\nexcept ZeroDivisionError:\n"
        "    pass\nawait send(out[0],'x')"
    ),
    "the left of an operator": (
        "p = await fetch('u')\nout=['bob']\nbox=[[out]]\ntry:\n"
        "    (box.pop()+[1//(p['n']-3)])[0].insert(0,'ann')\nexcept ZeroDivisionError:\n    pass\n"
        "await send(out[0],'x')"
    ),
    "what a loop in a function is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[lambda: 0, lambda: out.insert(0,'ann')]]\ndef h(fs):\n"
        "    for f in fs:\n        f()\n        if p['n']<100:\n            return\nh(box.pop())\n"
        "await send(out[0],'x')"
    ),
    "what a loop that is left is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[lambda: 0, lambda: out.insert(0,'ann')]]\ndef h():\n"
        "    for f in box.pop():\n        f()\n        if p['n']<100:\n            return\nh()\n"
        "await send(out[0],'x')"
    ),
    "what a loop that fails is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[lambda: 0, lambda: out.insert(0,'ann')]]\ndef h():\n"
        "    for f in box.pop():\n        f()\n        1//(p['n']-3)\ntry:\n    h()\n"
        "except ZeroDivisionError:\n    pass\nawait send(out[0],'x')"
    ),
    "what zip is yet to bring": (
        "p = await fetch('u')\nout=['bob']\nbox=[[out]]\nfor a,b in zip(box.pop(),p['lines'][:p['n']-3]):\n"
        "    a.insert(0,'ann')\nawait send(out[0],'x')"
    ),
    "an iterator that zip goes through": (
        "p = await fetch('u')\nit=iter(['a','b','bob','ann'])\nlist(zip(p['lines'],it))\nawait send(next(it),'x')"
    ),
    "an iterator that zip begins with": (
        "p = await fetch('u')\nit=iter(['bob','ann'])\nlist(zip(it,p['lines'][:p['n']-3]))\nawait send(next(it),'x')"
    ),
    "an iterator that enumerate goes through": (
        "p = await fetch('u')\nit=iter(['a','b','bob','ann'])\ne=enumerate(it)\nfor i,x in e:\n"
        "    if i+1>=p['n']:\n        break\nawait send(next(it),'x')"
    ),
    "a generator that zip goes through": (
        "p = await fetch('u')\nout=['bob']\ng=(out.insert(0,'ann') for i in [1])\n"
        "list(zip(p['lines'][:p['n']-3],g))\nawait send(out[0],'x')"
    ),
}
"""What the statement at work has found and not yet used when it fails, and what is yet to come."""

KEPT: Final = {
    "a list in an exception": (
        "p = await fetch('u')\nout = ['bob']\ne = ValueError(out)",
        "if p['n'] > 100:\n    e.args[0].insert(0, 'ann')",
        "await send(out[0], 'x')",
    ),
    "a builtin that gets another meaning later": (
        "out = ['bob']\ndef f():\n    ys = list()\n    ys.insert(0, 'ann')",
        "def list(x=0):\n    return out",
        "p = await fetch('u')\nif p['n'] > 100:\n    f()\nawait send(out[0], 'x')",
    ),
}
"""Code in parts, each of which finds what the earlier ones have left."""

PRINTED: Final = {
    "print in an exception": "p = await fetch('u')\ne = ValueError(print)\nif p['n'] > 100:\n    e.args[0]('x')",
    "print that is to be called with what fails": (
        "p = await fetch('u')\nbox = [print]\ntry:\n    box.pop()(1 // (p['n'] - 3))\n"
        "except ZeroDivisionError:\n    pass"
    ),
    "print in what a generator goes through": (
        "p = await fetch('u')\nsrc = [print]\ng = (f('x') for f in src)\nsrc = None\nif p['n'] > 100:\n    list(g)"
    ),
}


def answer(call: TrackedCall) -> Answer:
    if call.name == "fetch":
        return Reply(value=PAGE, sources=WEB)
    return Reply(value=["bob", "ann"] if call.name == "contacts" else "sent")


def ran(*codes: str) -> tuple[list[TrackedCall], Done | Failed]:
    """The calls of codes that follow one another, and how the last one ended."""
    calls: list[TrackedCall] = []
    earlier: Tracked | None = None
    step: Calls | Done | Failed | None = None
    for code in codes:
        earlier = Tracked(code, tools=TOOLS, after=earlier)
        step = earlier.start()
        while isinstance(step, Calls):
            calls += step.calls
            step = earlier.answer([answer(call) for call in step.calls])
    assert isinstance(step, Done | Failed)
    return calls, step


ALL: Final = {
    **{name: (code,) for group in (CHOSEN, HELD, NAMES, WAITING, IN_USE) for name, code in group.items()},
    **{f"{name}, kept": codes for name, codes in KEPT.items()},
}


@pytest.mark.parametrize("codes", ALL.values(), ids=ALL)
def test_whatever_is_hidden_keeps_its_source(codes: tuple[str, ...]) -> None:
    calls, _ = ran(*codes)
    sent = [call for call in calls if call.name == "send"]
    assert sent
    for call in sent:
        assert "web" in call.sources["to"] | call.decided_by


@pytest.mark.parametrize("code", PRINTED.values(), ids=PRINTED)
def test_what_could_print_marks_what_is_printed(code: str) -> None:
    _, end = ran(code)
    assert end.stdout_sources == WEB


def test_among_several_at_once_nothing_waits_but_by_await() -> None:
    calls, end = ran(
        "order = []\nasync def a():\n    contacts()\n    order.append('ann')\nasync def b():\n    order.append('bob')\n"
        "async def both():\n    await asyncio.gather(a(), b())\ndef go():\n    asyncio.run(both())",
        "go()",
    )
    assert not calls
    assert isinstance(end, Failed)
    assert "was not awaited" in end.message
