/** The circuit of a database, on a clock of the test. */
import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import {
  ConflictError,
  LLMConnectionError,
  StoreUnavailableError,
} from '../../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_CIRCUIT_TIMES, StoreCircuit } from '../../../imports/database/StoreCircuit';
import type { StoreCircuitOptions } from '../../../imports/database/StoreCircuit';
import { deferred } from '../../support/deferred';
import { delayed } from '../../support/delayed';
import { failure } from '../../support/failure';
import { RecordingLogger } from '../../support/RecordingLogger';

const { suspectAfter, probeTimeout, probeEvery, retryAfter, reportEvery } = DEFAULT_CIRCUIT_TIMES;
const gone = (): Promise<never> => Promise.reject(new LLMConnectionError('gone'));
const never = (): Promise<never> => new Promise(() => undefined);

describe('StoreCircuit', () => {
  let clock: SinonFakeTimers;
  let logger: RecordingLogger;
  let circuit: StoreCircuit;
  let probe: () => Promise<unknown>;
  let probes: number;

  const open = (options: Partial<StoreCircuitOptions> = {}): void => {
    circuit = new StoreCircuit({
      probe: () => {
        probes += 1;
        return probe();
      },
      logger,
      ...options,
    });
  };
  beforeEach(() => {
    clock = useFakeTimers();
    logger = new RecordingLogger();
    probes = 0;
    probe = gone;
    open();
  });
  afterEach(() => {
    circuit.close();
    clock.restore();
  });
  const breakDown = async (): Promise<void> => {
    await failure(circuit.run(gone));
    await clock.tickAsync(0);
  };

  it('says that the database is unavailable when an operation finds no connection, and stays closed if a probe does', async () => {
    probe = () => Promise.resolve();
    const error = await failure(circuit.run(gone));
    expect(error).to.be.instanceOf(StoreUnavailableError).and.to.have.property('retryAfterMs', retryAfter);
    await clock.tickAsync(probeTimeout);
    expect([probes, circuit.outage, logger.errors]).to.deep.equal([1, undefined, []]);
  });

  it('leaves other errors as they are, and asks nobody', async () => {
    const conflict = new ConflictError('taken');
    expect(await failure(circuit.run(() => Promise.reject(conflict)))).to.equal(conflict);
    await clock.tickAsync(probeTimeout);
    expect([probes, circuit.outage]).to.deep.equal([0, undefined]);
  });

  it('counts any error of the database itself as an answer', async () => {
    probe = () => Promise.reject(new ConflictError('taken'));
    await breakDown();
    expect(circuit.outage).to.equal(undefined);
  });

  it('opens when the probe fails, and then starts no operation', async () => {
    await breakDown();
    expect(circuit.outage).to.include({ since: 0 });
    let isStarted = false;
    const refused = await failure(
      circuit.run(() => {
        isStarted = true;
        return Promise.resolve();
      }),
    );
    expect(refused).to.be.instanceOf(StoreUnavailableError);
    expect(isStarted).to.equal(false);
  });

  it('opens when neither an operation nor the probe returns, and answers whoever waits', async () => {
    probe = never;
    const waiting = failure(circuit.run(never));
    await clock.tickAsync(suspectAfter + probeTimeout - 1);
    expect(circuit.outage).to.equal(undefined);
    await clock.tickAsync(1);
    expect(circuit.outage).to.include({ since: suspectAfter + probeTimeout });
    expect(await waiting).to.be.instanceOf(StoreUnavailableError);
  });

  it('stays closed while a slow database answers', async () => {
    const slowly = (): Promise<void> => delayed(probeTimeout - 1);
    probe = slowly;
    const done: Promise<void>[] = [];
    for (let count = 0; count < 10; count += 1) {
      done.push(circuit.run(slowly));
      await clock.tickAsync(suspectAfter);
    }
    await clock.tickAsync(probeTimeout);
    await Promise.all(done);
    expect(probes).to.be.greaterThan(0);
    expect([circuit.outage, logger.errors]).to.deep.equal([undefined, []]);
  });

  it('stays closed while a busy database answers operations, though not yet the probe', async () => {
    const answers = [() => Promise.resolve(), () => Promise.reject(new ConflictError('taken'))];
    probe = never;
    const waiting = failure(circuit.run(never));
    for (let count = 0; count < 10; count += 1) {
      await clock.tickAsync(probeTimeout * 0.8);
      await circuit.run(answers[count % answers.length] ?? gone).catch(() => undefined);
    }
    expect([probes, circuit.outage, logger.errors]).to.deep.equal([1, undefined, []]);
    // It falls silent.
    await clock.tickAsync(probeTimeout * 1.2);
    expect(await waiting).to.be.instanceOf(StoreUnavailableError);
    expect(circuit.outage).to.not.equal(undefined);
  });

  it('does not take a pause of the process for silence of the database', async () => {
    const answered = deferred();
    probe = () => answered.promise;
    void circuit.run(never);
    await clock.tickAsync(suspectAfter);
    // The clock goes on without a turn of the event loop, so the answer has not been read.
    clock.jump(probeTimeout * 2);
    await clock.tickAsync(0);
    expect([probes, circuit.outage]).to.deep.equal([1, undefined]);
    answered.resolve();
    await clock.tickAsync(0);
    expect(circuit.outage).to.equal(undefined);
  });

  it('closes with the first probe that is answered', async () => {
    await breakDown();
    await clock.tickAsync(probeEvery * 3);
    expect(circuit.outage).to.not.equal(undefined);
    probe = () => Promise.resolve();
    await clock.tickAsync(probeEvery);
    expect(circuit.outage).to.equal(undefined);
    expect(await circuit.run(() => Promise.resolve('back'))).to.equal('back');
    const sent = probes;
    await clock.tickAsync(probeEvery * 5);
    expect(probes).to.equal(sent);
  });

  it('logs the beginning, each minute and the end of an outage, without stacks', async () => {
    await breakDown();
    for (let count = 0; count < 1_000; count += 1) await failure(circuit.run(gone));
    await clock.tickAsync(reportEvery * 2.5);
    probe = () => Promise.resolve();
    await clock.tickAsync(probeEvery);
    expect(logger.errors).to.have.length(3);
    expect(logger.errors[0]).to.equal('The database cannot be reached. What needs it fails until it can: gone');
    expect(logger.errors[1]).to.match(/^The database has not been reached for 6\d s: gone$/);
    expect(logger.warnings).to.have.length(1);
    expect(logger.warnings[0]).to.match(/^The database can be reached again, after 15\d s\.$/);
    expect(logger.details).to.deep.equal([]);
  });

  it('connects anew when the present connection does not come back', async () => {
    const connected = deferred();
    let connections = 0;
    open({
      reconnect: () => {
        connections += 1;
        return connected.promise;
      },
    });
    await breakDown();
    expect(connections).to.equal(0);
    await clock.tickAsync(probeEvery * 2);
    expect([connections, circuit.outage === undefined]).to.deep.equal([1, false]);
    connected.resolve();
    await clock.tickAsync(0);
    expect(circuit.outage).to.equal(undefined);
  });

  it('is out of the way once it is closed', async () => {
    await breakDown();
    circuit.close();
    const error = await failure(circuit.run(gone));
    expect(error).to.be.instanceOf(LLMConnectionError);
    const sent = probes;
    await clock.tickAsync(probeEvery * 5);
    expect(probes).to.equal(sent);
  });
});
