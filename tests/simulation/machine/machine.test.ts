import { expect } from 'chai';
import * as machine from './machineProgram';
import { planMachineSchedule } from './planMachineSchedule';
import { simulateMachine } from './simulateMachine';

describe('x', () => {
  it('y', () => {
    const from = Number(process.env['FROM'] ?? 1);
    const count = Number(process.env['COUNT'] ?? 1000);
    const problems = new Map<string, number[]>();
    let steps = 0;
    const t = process.cpuUsage();
    for (let seed = from; seed < from + count; seed += 1) {
      const r = simulateMachine(planMachineSchedule(seed), machine);
      steps += r.steps;
      if (r.problem !== undefined) {
        const key = r.problem.replace(/\d+/g, '#').slice(0, 100);
        problems.set(key, [...(problems.get(key) ?? []), seed]);
      }
    }
    const cpu = process.cpuUsage(t);
    console.log('cpu ms', (cpu.user + cpu.system) / 1000, 'steps', steps / count);
    for (const [k, v] of problems) console.log(v.length, k, v.slice(0, 5).join(','));
    const only = process.env['ONLY'];
    if (only !== undefined) {
      const r = simulateMachine(planMachineSchedule(Number(only)), machine, true);
      console.log(JSON.stringify(planMachineSchedule(Number(only)), null, 1));
      console.log(r.trail.slice(-Number(process.env['LINES'] ?? 120)).join('\n'));
      console.log(r.problem);
    }
    expect(problems.size).to.equal(0);
  });
});
