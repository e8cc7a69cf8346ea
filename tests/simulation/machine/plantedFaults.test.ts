import { PLANTED_FAULTS } from './plantedFaults';
import { changedMachine } from './MachineBundle';
import { planMachineSchedule } from './planMachineSchedule';
import { simulateMachine } from './simulateMachine';
it('a', async () => {
  const text = process.env['FAULT'];
  for (const fault of PLANTED_FAULTS) {
    if (text !== undefined && !fault.title.includes(text)) continue;
    try {
    const t = Date.now();
    const machine = await changedMachine(fault);
    const b = Date.now() - t;
    let seed = 1; let found = ''; let n = 0; const all = new Set<string>();
    for (; seed < 50000; seed++) {
      const r = simulateMachine(planMachineSchedule(seed), machine);
      if (r.problem !== undefined) { if (found === '') found = `seed ${seed}: ${r.problem}`; n++; all.add(r.problem.replace(/\d+/g,'#').slice(0, 70)); if (n > 5 || seed > 5000) break; }
    }
    console.log(found === '' ? 'NOT FOUND' : 'found', fault.title, '|', found.slice(0, 110), `(6th at ${seed}, build ${b} ms)`);
    } catch (e) { console.log('ERR', fault.title, String(e).slice(0, 200)); }
  }
}).timeout(0);
