/** `npm run data -- check|repair|backup|restore`: looks after the files of the embedded database; `--help` says more. */
import { runDataCommand } from '../imports/startup/node/runDataCommand';

void runDataCommand(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
