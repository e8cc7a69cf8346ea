/**
 * A small pool of threads that compile schemas and validate values, each job within one limit of CPU time. Threads
 * start with the first job and are kept; they hold no process open while they are idle.
 */
import { Worker } from 'node:worker_threads';
import type { SchemaJob, SchemaJobResult } from './schemaJob';
import { schemaWorkerSource } from './worker/schemaWorkerSource';

/** `too-slow`: not finished in time. `too-large`: the thread ran out of memory. */
export type SchemaWorkResult = SchemaJobResult | { readonly kind: 'too-slow' | 'too-large' };

export interface SchemaWorkersOptions {
  /** Threads. Default 2. */
  readonly size?: number;
  /** Milliseconds of CPU time, all threads of the process together, for one job. Default 2,000. */
  readonly timeLimitMs?: number;
  /** MiB of heap of one thread. Default 192. */
  readonly heapMb?: number;
}

interface Task {
  readonly job: SchemaJob;
  readonly owner: string;
  /** Whether a thread that had done other work ran out of memory over it. */
  retried: boolean;
  readonly resolve: (result: SchemaWorkResult) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  jobs: number;
  task: Task | undefined;
  timer: NodeJS.Timeout | undefined;
}

export class SchemaWorkers {
  readonly timeLimitMs: number;
  private readonly size: number;
  private readonly heapMb: number;
  private readonly threads = new Set<Thread>();
  /** Waiting jobs by owner. The owner whose turn is next comes first. */
  private readonly waiting = new Map<string, Task[]>();

  constructor({ size = 2, timeLimitMs = 2_000, heapMb = 192 }: SchemaWorkersOptions = {}) {
    this.size = size;
    this.timeLimitMs = timeLimitMs;
    this.heapMb = heapMb;
  }

  /**
   * Owners take turns, and one owner never occupies all threads of several.
   * @param owner the user on whose behalf the job runs
   * @throws DataCloneError for a value that is not plain data
   */
  run(job: SchemaJob, owner: string): Promise<SchemaWorkResult> {
    return new Promise((resolve, reject) => {
      const tasks = this.waiting.get(owner) ?? [];
      tasks.push({ job, owner, retried: false, resolve, reject });
      this.waiting.set(owner, tasks);
      this.assign();
    });
  }

  /** Ends all threads; jobs that run are rejected. */
  async close(): Promise<void> {
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private assign(): void {
    for (let task = this.nextTask(); task !== undefined; task = this.nextTask()) {
      const thread = [...this.threads].find((each) => each.task === undefined) ?? this.startThread();
      thread.task = task;
      thread.worker.ref();
      if (thread.isReady) this.send(thread, task);
    }
  }

  /** Removes the task from the waiting ones. */
  private nextTask(): Task | undefined {
    const busy = [...this.threads].flatMap(({ task }) => (task === undefined ? [] : [task.owner]));
    if (busy.length >= this.size) return undefined;
    const share = Math.max(1, this.size - 1);
    for (const [owner, tasks] of this.waiting) {
      if (busy.filter((each) => each === owner).length >= share) continue;
      const task = tasks.shift();
      this.waiting.delete(owner);
      if (tasks.length > 0) this.waiting.set(owner, tasks);
      return task;
    }
    return undefined;
  }

  private startThread(): Thread {
    // A string, not a file: bundlers leave it as it is.
    const worker = new Worker(schemaWorkerSource, {
      eval: true,
      name: 'schemas',
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.heapMb },
    });
    const thread: Thread = { worker, isReady: false, jobs: 0, task: undefined, timer: undefined };
    this.threads.add(thread);
    worker.on('message', (message: 'ready' | SchemaJobResult) => {
      if (message !== 'ready') this.finish(thread, message);
      else {
        thread.isReady = true;
        if (thread.task !== undefined) this.send(thread, thread.task);
      }
    });
    worker.on('error', (error: NodeJS.ErrnoException) => this.lose(thread, error));
    worker.on('exit', (code) => this.lose(thread, new Error(`The schema worker ended with code ${code}.`)));
    return thread;
  }

  private send(thread: Thread, task: Task): void {
    try {
      thread.worker.postMessage(task.job);
    } catch (error) {
      this.release(thread);
      task.reject(error);
      this.assign();
      return;
    }
    thread.jobs += 1;
    this.limit(thread, task, this.timeLimitMs);
  }

  /**
   * Stops the job once the process has used so much CPU time, which bounds what the thread has used. A machine that is
   * busy with other processes makes no job too slow.
   */
  private limit(thread: Thread, task: Task, cpuMs: number): void {
    const before = process.cpuUsage();
    const check = (): void => {
      if (thread.task !== task) return;
      const { user, system } = process.cpuUsage(before);
      const leftMs = cpuMs - (user + system) / 1_000;
      if (leftMs > 0) this.limit(thread, task, leftMs);
      else this.stop(thread, task);
    };
    // A loop that was held up itself reads the thread's answer first.
    thread.timer = setTimeout(() => setImmediate(check), cpuMs);
  }

  private stop(thread: Thread, task: Task): void {
    this.drop(thread);
    void thread.worker.terminate();
    task.resolve({ kind: 'too-slow' });
    this.assign();
  }

  private finish(thread: Thread, result: SchemaJobResult): void {
    const { task } = thread;
    this.release(thread);
    task?.resolve(result);
    this.assign();
  }

  private lose(thread: Thread, error: NodeJS.ErrnoException): void {
    if (!this.threads.has(thread)) return;
    const { task } = thread;
    this.drop(thread);
    if (task !== undefined) {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') task.reject(error);
      else if (task.retried || thread.jobs === 1) task.resolve({ kind: 'too-large' });
      else {
        // What earlier jobs left behind may have filled the memory.
        task.retried = true;
        this.waiting.set(task.owner, [task, ...(this.waiting.get(task.owner) ?? [])]);
      }
    }
    this.assign();
  }

  private release(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.task = undefined;
    thread.worker.unref();
  }

  private drop(thread: Thread): void {
    this.release(thread);
    this.threads.delete(thread);
  }
}
