import { expect } from 'chai';
import { AuditTrail } from '../../../../imports/business/audit/application/AuditTrail';
import type { AuditTrailPorts } from '../../../../imports/business/audit/application/AuditTrail';
import { ConflictError, LLMPermissionError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { AuditEnd, AuditStore } from '../../../../imports/business/audit/domain/AuditStore';
import type { AuditEntry } from '../../../../imports/business/ai/domain/types/AuditEntries';
import { failure } from '../../../support/failure';
import { RecordingLogger } from '../../../support/RecordingLogger';

const ANN = { userId: 'ann', source: 'http' } as const;
const ACT = { action: 'queue.pause', subject: { kind: 'queue' } } as const;

class MemoryStore implements AuditStore {
  readonly entries: AuditEntry[] = [];
  readonly ends: AuditEnd[] = [];
  broken: 'insert' | 'end' | undefined;

  insert(entry: AuditEntry): Promise<void> {
    if (this.broken === 'insert') return Promise.reject(new Error('The disk is full.'));
    this.entries.push(entry);
    return Promise.resolve();
  }

  end(_id: string, end: AuditEnd): Promise<void> {
    if (this.broken === 'end') return Promise.reject(new Error('The disk is full.'));
    this.ends.push(end);
    return Promise.resolve();
  }
}

function createTrail(options: Partial<AuditTrailPorts> = {}) {
  const store = new MemoryStore();
  const logger = new RecordingLogger();
  let done = 0;
  const run = (): Promise<string> => {
    done += 1;
    return Promise.resolve('result');
  };
  const trail = new AuditTrail({ store, logger, ...options });
  return { store, logger, run, trail, done: () => done };
}

describe('AuditTrail', () => {
  it('has an act on record before it begins, and its outcome before the caller learns it', async () => {
    const { store, trail } = createTrail();
    const result = await trail.carryOut(
      ANN,
      ACT,
      () => {
        expect(store.entries.map(({ outcome }) => outcome)).to.deep.equal(['begun']);
        return Promise.resolve({ id: 'p-1' });
      },
      { idOf: ({ id }) => id },
    );
    expect(result).to.deep.equal({ id: 'p-1' });
    expect(store.ends).to.deep.equal([{ outcome: 'done', subjectId: 'p-1' }]);
  });

  it('tells what was refused from what failed', async () => {
    const { store, trail } = createTrail();
    for (const error of [new LLMPermissionError('No.'), new ConflictError('Changed.'), new Error('A bug.')])
      expect(await failure(trail.carryOut(ANN, ACT, () => Promise.reject(error)))).to.equal(error);
    expect(store.ends).to.deep.equal([
      { outcome: 'refused', error: 'permission-denied' },
      { outcome: 'failed', error: 'conflict' },
      { outcome: 'failed', error: 'unexpected' },
    ]);
  });

  it('does not do what cannot be recorded, and says so', async () => {
    const { store, logger, trail, run, done } = createTrail();
    store.broken = 'insert';
    expect(await failure(trail.carryOut(ANN, ACT, run)))
      .to.include({ code: 'overloaded', httpStatus: 503 })
      .and.have.property('message')
      .that.contains('Nothing was done');
    expect(done()).to.equal(0);
    expect(await failure(trail.record(ANN, ACT))).to.include({ code: 'overloaded' });
    expect(logger.errors).to.have.length(2);
  });

  it('does what only stops something in any case, and logs what it could not record', async () => {
    const { store, logger, trail, run, done } = createTrail();
    store.broken = 'insert';
    expect(await trail.carryOut(ANN, { ...ACT, action: 'call.reject' }, run, { isSafe: true })).to.equal('result');
    expect(done()).to.equal(1);
    expect(store.ends).to.deep.equal([]);
    expect(JSON.stringify(logger.details)).to.contain('call.reject').and.to.contain('ann');
  });

  it('reports as done what was done, even if its outcome cannot be recorded', async () => {
    const { store, logger, trail, run } = createTrail();
    store.broken = 'end';
    expect(await trail.carryOut(ANN, ACT, run)).to.equal('result');
    expect(store.entries).to.have.length(1);
    expect(logger.errors).to.have.length(1);
  });

  it('records only what succeeds of callers who have failed sixty times in an hour, and all of others', async () => {
    let now = 0;
    const { store, trail, run } = createTrail({ now: () => now });
    const attempt = (): Promise<unknown> =>
      failure(trail.carryOut(ANN, ACT, () => Promise.reject(new LLMPermissionError('No.'))));
    for (let count = 0; count < 70; count += 1) expect(await attempt()).to.include({ code: 'permission-denied' });
    expect(store.entries).to.have.length(60);
    expect(await trail.carryOut(ANN, ACT, run, { idOf: () => 'q-1' })).to.equal('result');
    expect(store.entries.at(-1)).to.deep.include({ outcome: 'done', subject: { kind: 'queue', id: 'q-1' } });
    for (const other of [
      { ...ANN, userId: 'bob' },
      { ...ANN, tokenId: 't' },
    ])
      await failure(trail.carryOut(other, ACT, () => Promise.reject(new LLMPermissionError('No.'))));
    expect(store.entries).to.have.length(63);
    store.broken = 'insert';
    expect(await failure(trail.carryOut(ANN, ACT, run)))
      .to.include({ code: 'overloaded', retryable: false })
      .and.have.property('message')
      .that.contains('It was done');
    store.broken = undefined;
    now = 3_600_000;
    await attempt();
    expect(store.entries.at(-1)).to.include({ at: now, outcome: 'begun' });
  });

  it('gives entries ids in the order of the acts, also within a millisecond', async () => {
    let now = 5;
    const { store, trail } = createTrail({ now: () => now });
    for (let count = 0; count < 300; count += 1) {
      now = count < 200 ? 5 : 17;
      await trail.record(ANN, ACT);
    }
    const ids = store.entries.map(({ _id }) => _id);
    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(ids).size).to.equal(300);
  });

  it('bounds reports of refused callers by key and hour, and by day', async () => {
    let now = 0;
    const { store, trail } = createTrail({ now: () => now, reportLimits: { perKeyAndHour: 2, perDay: 5 } });
    const report = (key: string): void => trail.report({ userId: '', source: 'http' }, ACT, 'auth-failed', key);
    for (const key of ['a', 'a', 'a', 'b', 'a']) report(key);
    now = 3_600_000;
    for (const key of ['a', 'b', 'c']) report(key);
    now = 86_400_000;
    report('a');
    await trail.settled();
    expect(store.entries.map(({ at, details }) => [at, details])).to.deep.equal([
      [0, undefined],
      [0, { furtherAreNotRecorded: true }],
      [0, undefined],
      [3_600_000, undefined],
      [3_600_000, { furtherAreNotRecorded: true }],
      [86_400_000, undefined],
    ]);
  });
});
