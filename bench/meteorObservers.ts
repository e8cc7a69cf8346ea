/**
 * Counts what the app costs under Meteor: observers per page, and writes, notifications and DDP messages per run.
 * `npm run bench:meteor`. The counts do not depend on the machine, except those of live text, which is sent about seven
 * times a second.
 */
import { measureMeteor } from '../tests/support/meteorCosts';

async function main(): Promise<void> {
  const { observers, ofProcess, runs } = await measureMeteor();
  console.log(`Observers of a process without clients: ${ofProcess}\n`);
  table(
    ['page', 'observers for an admin', 'more for a second admin', 'more for each user'],
    Object.entries(observers).map(([page, { admin, secondAdmin, user }]) => [page, admin, secondAdmin, user]),
  );
  const names = [...new Set(Object.values(runs).flatMap(({ writes }) => Object.keys(writes)))].toSorted();
  table(
    ['run', ...names, 'writes', 'notifications', 'DDP messages', 'kilobytes', 'live texts', 'removed'],
    Object.entries(runs).map(([run, { writes, notifications, messages, bytes, liveTexts }]) => [
      run,
      ...names.map((name) => writes[name] ?? 0),
      Object.values(writes).reduce((sum, count) => sum + count, 0),
      notifications,
      messages,
      (bytes / 1_000).toFixed(1),
      liveTexts.added,
      liveTexts.removed,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  for (const cells of [head, head.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
  console.log();
}

void main();
