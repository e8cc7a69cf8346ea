/** Answers the parent's messages with what this process has used. */
export interface ProcessUsage {
  /** Microseconds of CPU since the last report. */
  readonly cpu: number;
  /** Bytes of resident memory. */
  readonly memory: number;
}

export function reportUsage(): void {
  let last = process.cpuUsage();
  process.on('message', () => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    const usage: ProcessUsage = { cpu: user + system, memory: process.memoryUsage().rss };
    process.send?.(usage);
  });
  process.on('disconnect', () => process.exit());
}
