/** `npm run data -- check|repair|backup|restore`: looks after the embedded database's files. `--help` says more. */
import { runDataCommand } from '../imports/startup/node/runDataCommand';

void runDataCommand(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
