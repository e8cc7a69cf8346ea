/**
 * Writes what SQLite's own log has to the database file, in a thread of its own: both files are synchronized for it,
 * for which a disk may take long. https://sqlite.org/wal.html#ckpt
 */
import { Worker } from 'node:worker_threads';

/** A string, not a file: bundlers leave it as it is. It answers with what has failed, if anything. */
const SOURCE = `
  const { parentPort, workerData } = require('node:worker_threads');
  process.emitWarning = () => undefined;
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const connection = new DatabaseSync(workerData);
  connection.exec('PRAGMA synchronous = NORMAL');
  parentPort.on('message', (message) => {
    if (message === 'close') {
      connection.close();
      parentPort.close();
      return;
    }
    try {
      connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
      parentPort.postMessage(undefined);
    } catch (error) {
      parentPort.postMessage(error);
    }
  });`;

export class CheckpointThread {
  private readonly path: string;
  private worker: Worker | undefined;
  private exited: Promise<undefined> = Promise.resolve(undefined);

  /** @param path of the database, which the thread opens at its first checkpoint */
  constructor(path: string) {
    this.path = path;
  }

  /**
   * Resolves when all that was committed before is in the file or, with the reason, if it could not be written to it.
   * @throws Error if there can be no thread, as under Node's permission model, or it has ended
   */
  async checkpoint(): Promise<unknown> {
    const worker = this.start();
    worker.ref();
    const done = new Promise<{ readonly failure: unknown }>((resolve) =>
      worker.once('message', (failure: unknown) => resolve({ failure })),
    );
    worker.postMessage('checkpoint');
    const outcome = await Promise.race([done, this.exited]);
    worker.unref();
    if (outcome === undefined) throw new Error(`The thread of the checkpoints of ${this.path} has ended.`);
    return outcome.failure;
  }

  /** Resolves when the thread has closed the database. */
  async close(): Promise<void> {
    this.worker?.ref();
    this.worker?.postMessage('close');
    await this.exited;
  }

  private start(): Worker {
    if (this.worker !== undefined) return this.worker;
    const worker = new Worker(SOURCE, {
      eval: true,
      name: 'checkpoints',
      workerData: this.path,
      env: {},
      execArgv: [],
    });
    this.worker = worker;
    // An error ends the thread. The next checkpoint has another one.
    worker.on('error', () => undefined);
    this.exited = new Promise((resolve) =>
      worker.once('exit', () => {
        this.worker = undefined;
        resolve(undefined);
      }),
    );
    return worker;
  }
}
