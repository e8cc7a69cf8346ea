/** How many runs there are in this process, and what their tool calls wait for. */
import { CountedRun } from './CountedRun';
import type { MetricRecorder, Observation } from './MetricRecorder';

export class RunMetrics {
  private readonly recorder: MetricRecorder;
  private readonly runs = new Set<CountedRun>();

  constructor(recorder: MetricRecorder) {
    this.recorder = recorder;
    recorder.observe('bolide.run.active', () => this.active());
    recorder.observe('bolide.tool.waiting', () => this.waiting());
  }

  begin(): CountedRun {
    const run = new CountedRun(this.recorder, (ended) => this.runs.delete(ended));
    this.runs.add(run);
    return run;
  }

  private active(): readonly Observation[] {
    const waiting = [...this.runs].filter(({ isWaiting }) => isWaiting).length;
    return [
      { value: this.runs.size - waiting, attributes: { 'bolide.run.state': 'working' } },
      { value: waiting, attributes: { 'bolide.run.state': 'waiting' } },
    ];
  }

  private waiting(): readonly Observation[] {
    const counts = { approval: 0, review: 0, external: 0 };
    for (const { waits } of this.runs) for (const kind of waits.values()) counts[kind] += 1;
    return Object.entries(counts).map(([kind, value]) => ({ value, attributes: { 'bolide.wait.kind': kind } }));
  }
}
