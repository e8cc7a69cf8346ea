import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { KeyedQueue } from '../../../../../../imports/business/ai/application/services/shared/KeyedQueue';
import { deferred } from '../../../../../support/deferred';
import { failure } from '../../../../../support/failure';

describe('KeyedQueue', () => {
  it('runs tasks of one key in order, and tasks of other keys concurrently', async () => {
    const queue = new KeyedQueue();
    const first = deferred();
    const log: string[] = [];
    const one = queue.run('a', async () => {
      log.push('a1 begins');
      await first.promise;
      log.push('a1 ends');
    });
    const two = queue.run('a', async () => log.push('a2'));
    await queue.run('b', async () => log.push('b1'));
    expect(log).to.deep.equal(['a1 begins', 'b1']);
    first.resolve();
    await Promise.all([one, two]);
    expect(log).to.deep.equal(['a1 begins', 'b1', 'a1 ends', 'a2']);
  });

  it('continues after a failed task', async () => {
    const queue = new KeyedQueue();
    const failed = failure(queue.run('a', () => Promise.reject(new Error('broken'))));
    expect(await queue.run('a', async () => 'next')).to.equal('next');
    expect(await failed).to.have.property('message', 'broken');
  });

  it('removes an aborted task immediately, and preserves the order of the others', async () => {
    const queue = new KeyedQueue();
    const first = deferred();
    const log: string[] = [];
    const one = queue.run('a', () => first.promise);
    const controller = new AbortController();
    const two = failure(queue.run('a', async () => log.push('two'), controller.signal));
    const three = queue.run('a', async () => log.push('three'));
    controller.abort(new Error('never mind'));
    expect(await two).to.have.property('message', 'never mind');
    expect(log).to.deep.equal([]);
    first.resolve();
    await Promise.all([one, three]);
    expect(log).to.deep.equal(['three']);
  });

  it('listens to the signal of a task only while the task waits', async () => {
    const queue = new KeyedQueue();
    const { signal } = new AbortController();
    const first = deferred();
    const tasks = [queue.run('a', () => first.promise, signal)];
    for (let count = 0; count < 3; count += 1) tasks.push(queue.run('a', async () => undefined, signal));
    expect(getEventListeners(signal, 'abort')).to.have.length(3);
    first.resolve();
    await Promise.all(tasks);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('removes keys without tasks', async () => {
    const queue = new KeyedQueue();
    await Promise.all(Array.from({ length: 100 }, (_, index) => queue.run(`key ${index % 10}`, async () => index)));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(queue.size).to.equal(0);
  });
});
