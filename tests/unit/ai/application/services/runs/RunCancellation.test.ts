/** Cancellation of a run's current step, of which nothing is retained. */
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LLMAbortedError, LLMTimeoutError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { RunCancellation } from '../../../../../../imports/business/ai/application/services/runs/RunCancellation';
import { failure } from '../../../../../support/failure';

describe('RunCancellation', () => {
  const never = new Promise<never>(() => undefined);

  it('resolves with the outcome of a step, which does not affect later steps', async () => {
    const interruption = new RunCancellation();
    expect(await interruption.race(Promise.resolve('a'))).to.equal('a');
    expect(await failure(interruption.race(Promise.reject(new LLMTimeoutError('b'))))).to.have.property('message', 'b');
    expect(await interruption.race(Promise.resolve('c'))).to.equal('c');
  });

  it('rejects the current step, and every later one, with the first reason', async () => {
    const interruption = new RunCancellation();
    const step = failure(interruption.race(never));
    const reason = new LLMTimeoutError('late');
    interruption.cancel(reason);
    interruption.cancel(new LLMAbortedError('later'));
    expect(await step).to.equal(reason);
    expect(await failure(interruption.race(never))).to.equal(reason);
    expect(interruption.signal.reason).to.equal(reason);
  });

  it('gives every signal its reason, whether it was created before or after', () => {
    const interruption = new RunCancellation();
    const released = interruption.signal;
    expect(interruption.signal).to.equal(released);
    interruption.releaseSignal();
    const { signal } = interruption;
    const reason = new LLMTimeoutError('late');
    interruption.cancel(reason);
    expect([released.aborted, signal.reason]).to.deep.equal([false, reason]);
    interruption.releaseSignal();
    expect(interruption.signal.reason).to.equal(reason);
  });

  it('calls the listeners that are still there, once', () => {
    const interruption = new RunCancellation();
    const called: string[] = [];
    const [first, second, third] = ['first', 'second', 'third'].map((name) => ({
      handleEvent: () => void called.push(name),
    }));
    for (const listener of [first, second, third]) interruption.addEventListener('abort', listener!);
    interruption.removeEventListener('abort', second!);
    interruption.cancel(new LLMTimeoutError('late'));
    interruption.cancel(new LLMTimeoutError('later'));
    expect(called).to.deep.equal(['first', 'third']);
  });

  it('cancels a step although an earlier one, which it did not wait for, ends during it', async () => {
    const interruption = new RunCancellation();
    let end: (value: string) => void = () => undefined;
    const earlier = interruption.race(new Promise<string>((resolve) => (end = resolve)));
    const step = failure(interruption.race(never));
    end('earlier');
    await earlier;
    interruption.cancel(new LLMTimeoutError('late'));
    expect(await step).to.have.property('message', 'late');
  });

  it('retains no outcome of a step', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const interruption = new RunCancellation();
    const given: WeakRef<object>[] = [];
    for (let step = 0; step < 50; step += 1) given.push(new WeakRef(await interruption.race(Promise.resolve({}))));
    for (let attempt = 0; attempt < 10 && given.some((value) => value.deref() !== undefined); attempt += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    // The last value may still be referenced from a stack.
    expect(given.filter((value) => value.deref() !== undefined).length).to.be.at.most(1);
    expect(interruption.signal.aborted).to.equal(false);
  });
});
