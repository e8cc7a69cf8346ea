import { expect } from 'chai';
import { DashboardError } from '../../../../../imports/ui/data/DashboardData';
import type { Loaded } from '../../../../../imports/ui/data/DashboardData';
import type { ReadonlyObservable } from '../../../../../imports/ui/data/Observable';
import type { ChangeListener } from '../../../../../imports/ui/data/queries/ChangeSource';
import { QueryStore } from '../../../../../imports/ui/data/queries/QueryStore';
import { deferred } from '../../../../support/deferred';
import type { Deferred } from '../../../../support/deferred';
import { until } from '../../../../support/until';

describe('QueryStore', () => {
  let loads: Deferred<unknown>[];
  let listeners: Set<ChangeListener>;
  let isOpen: boolean;
  let store: QueryStore;
  let unsubscribes: (() => void)[];
  beforeEach(() => {
    loads = [];
    listeners = new Set();
    isOpen = true;
    unsubscribes = [];
    store = new QueryStore({
      call: () => {
        const load = deferred<unknown>();
        loads.push(load);
        return load.promise as Promise<never>;
      },
      changes: {
        subscribe(_topics, listener) {
          listeners.add(listener);
          if (isOpen) listener.onOpen();
          return () => void listeners.delete(listener);
        },
      },
      reloadIntervalMs: 1,
    });
  });
  afterEach(() => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  });

  const tools = (session?: string): ReadonlyObservable<Loaded<unknown>> => store.query('ai.tools.list', {}, session);
  const mount = (query: ReadonlyObservable<Loaded<unknown>>): (() => void) => {
    const unmount = query.subscribe(() => undefined);
    unsubscribes.push(unmount);
    return unmount;
  };
  const answer = async (index: number, value: unknown): Promise<void> => {
    loads[index]?.resolve(value);
    await loads[index]?.promise;
    await new Promise(setImmediate);
  };
  const change = (): void => {
    for (const listener of listeners) listener.onChange();
  };

  it('shares one load between components that ask the same', async () => {
    mount(tools());
    mount(store.query('ai.tools.list', {}));
    expect(loads).to.have.length(1);
    await answer(0, ['a']);
    expect(tools().get()).to.deep.equal({ state: 'ready', value: ['a'] });
  });

  it('keeps the last value while it reloads, and retains the parts that are equal', async () => {
    mount(tools());
    await answer(0, [{ _id: 'a', count: 1 }, { _id: 'b' }]);
    const before = tools().get() as { value: readonly object[] };
    change();
    await until(() => loads.length === 2);
    expect(tools().get()).to.equal(before);
    await answer(1, [{ _id: 'b' }, { _id: 'a', count: 2 }]);
    const after = tools().get() as { value: readonly object[] };
    expect(after.value).to.deep.equal([{ _id: 'b' }, { _id: 'a', count: 2 }]);
    expect(after.value[0]).to.equal(before.value[1]);
  });

  it('has at most one load in flight, and loads once more after changes during it', async () => {
    mount(tools());
    change();
    change();
    expect(loads).to.have.length(1);
    await answer(0, 'before the changes');
    await until(() => loads.length === 2);
    await answer(1, 'after them');
    expect(tools().get()).to.deep.equal({ state: 'ready', value: 'after them' });
    expect(loads).to.have.length(2);
  });

  it('loads again after a command, also if a load is in flight that began before it', async () => {
    mount(tools());
    const command = store.call('ai.tools.list', {});
    expect(loads).to.have.length(2);
    await answer(1, 'done');
    await command;
    expect(loads, 'not while the first is in flight').to.have.length(2);
    await answer(0, 'before the command');
    expect(loads).to.have.length(3);
    await answer(2, 'after the command');
    expect(tools().get()).to.deep.equal({ state: 'ready', value: 'after the command' });
    expect(loads).to.have.length(3);
  });

  it('does not load a second time when it is mounted again at once, as StrictMode does', async () => {
    mount(tools())();
    mount(tools());
    await answer(0, 1);
    expect(loads).to.have.length(1);
    expect(listeners.size).to.equal(1);
  });

  it('keeps the answers to different arguments apart, whichever comes first', async () => {
    const first = store.query('ai.runs.cancel', { executionId: 'first' });
    const second = store.query('ai.runs.cancel', { executionId: 'second' });
    mount(first);
    mount(second);
    await answer(1, 'of the second');
    await answer(0, 'of the first');
    expect(second.get()).to.deep.equal({ state: 'ready', value: 'of the second' });
    expect(first.get()).to.deep.equal({ state: 'ready', value: 'of the first' });
  });

  it('shows another user nothing of the last one', async () => {
    mount(tools('ann'));
    await answer(0, 'of ann');
    expect(tools('bob').get()).to.deep.equal({ state: 'loading' });
  });

  it('loads after a reconnect, and reports the error if there is no connection at first', async () => {
    isOpen = false;
    const query = tools();
    mount(query);
    expect(loads).to.have.length(0);
    for (const listener of listeners) listener.onDisconnected();
    loads[0]?.reject(new DashboardError('connection-failed', 'The server can’t be reached.'));
    await until(() => query.get().state === 'failed');
    for (const listener of listeners) listener.onOpen();
    await answer(1, 'back');
    expect(query.get()).to.deep.equal({ state: 'ready', value: 'back' });
  });

  it('keeps an old value when the server cannot be reached, but not one that is gone', async () => {
    const query = tools();
    mount(query);
    await answer(0, 'old');
    change();
    await until(() => loads.length === 2);
    loads[1]?.reject(new DashboardError('connection-failed', 'The server can’t be reached.'));
    await new Promise(setImmediate);
    expect(query.get()).to.deep.equal({ state: 'ready', value: 'old' });
    for (const listener of listeners) listener.onOpen();
    loads[2]?.reject(new DashboardError('not-found', 'There is no such run.'));
    await until(() => query.get().state === 'failed');
  });

  it('loads what a command has changed again, and passes on its error', async () => {
    mount(tools());
    await answer(0, 'before');
    const approved = store.call('ai.runs.approve', { executionId: 'r', callId: 'c', argumentsHash: 'h' });
    await answer(1, { state: 'executing' });
    expect(await approved).to.deep.equal({ state: 'executing' });
    await answer(2, 'after');
    expect(tools().get()).to.deep.equal({ state: 'ready', value: 'after' });
    const failing = store.call('ai.runs.cancel', { executionId: 'r' });
    loads[3]?.reject(new DashboardError('not-found', 'There is no such run.'));
    expect(await failing.catch((error: unknown) => error)).to.have.property('code', 'not-found');
  });

  it('loads after a command only what is shown and has a topic of it, and of several topics one is enough', async () => {
    mount(store.query('ai.runs.list', {}));
    mount(store.query('ai.mcpServers.list', {}));
    mount(tools());
    mount(store.query('ai.queue.list', {}));
    store.query('ai.mcpServers.list', {}, 'of another user');
    for (const index of [0, 1, 2, 3]) await answer(index, 'before');
    const command = store.call('ai.mcpServers.setEnabled', { name: 'm', enabled: true });
    await answer(4, 'done');
    await command;
    const shown = [store.query('ai.runs.list', {}), store.query('ai.mcpServers.list', {}), tools()];
    for (const index of [5, 6, 7]) await answer(index, `load ${index}`);
    expect(loads).to.have.length(8);
    expect(shown.map((query) => query.get())).to.deep.equal(
      [5, 6, 7].map((index) => ({ state: 'ready', value: `load ${index}` })),
    );
  });

  it('takes the same fields in another order for the same query', () => {
    const names = [
      { limit: 5, state: 'failed' },
      { state: 'failed', limit: 5 },
    ] as const;
    const [first, second] = names.map((argument) => store.query('ai.runs.list', argument));
    expect(first).to.equal(second);
  });

  it('forgets what is shown no longer, the longest unused first, once there are more than 50', () => {
    const run = (index: number) => store.query('ai.runs.get', { executionId: `${index}` });
    const queries = Array.from({ length: 50 }, (_, index) => run(index));
    mount(queries[0]!);
    run(1);
    run(50);
    run(51);
    expect([0, 1, 4].map((index) => run(index) === queries[index])).to.deep.equal([true, true, true]);
    expect([2, 3].map((index) => run(index) === queries[index])).to.deep.equal([false, false]);
  });

  it('keeps what is about to be shown, although all others are', () => {
    const run = (index: number) => store.query('ai.runs.get', { executionId: `${index}` });
    for (let index = 0; index < 50; index += 1) mount(run(index));
    expect(run(50)).to.equal(run(50));
  });

  it('is loading, and loads nothing, without an argument', () => {
    const none = store.query('ai.tools.list', undefined);
    mount(none);
    expect([none.get(), loads]).to.deep.equal([{ state: 'loading' }, []]);
  });
});
