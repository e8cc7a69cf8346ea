/**
 * Writes what SQLite's own log has to the database file, in a thread of its own: both files are synchronized for it,
 * for which a disk may take long. https://sqlite.org/wal.html#ckpt
 */
import { Worker } from 'node:worker_threads';

/** A string, not a file: bundlers leave it as it is. What fails is tried again with the next checkpoint. */
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
    } catch {}
    parentPort.postMessage('done');
  });`;

export class CheckpointThread {
  private readonly path: string;
  private worker: Worker | undefined;
  private exited: Promise<void> = Promise.resolve();

  /** @param path of the database, which the thread opens at its first checkpoint */
  constructor(path: string) {
    this.path = path;
  }

  /**
   * Resolves when all that was committed before is in the file, or could not be written to it.
   * @throws Error if there can be no thread, as under Node's permission model, or it has ended
   */
  async checkpoint(): Promise<void> {
    const worker = this.start();
    worker.ref();
    const done = new Promise<boolean>((resolve) => worker.once('message', () => resolve(true)));
    worker.postMessage('checkpoint');
    const isDone = await Promise.race([done, this.exited]);
    worker.unref();
    if (isDone !== true) throw new Error(`The thread of the checkpoints of ${this.path} has ended.`);
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
        resolve();
      }),
    );
    return worker;
  }
}
