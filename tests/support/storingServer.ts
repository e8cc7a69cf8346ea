/** A server of plain Node in a process of its own, for tests of what a small heap withstands. Prints its URL. */
import { startServer } from '../../imports/host/node/startServer';

void startServer({ dashboard: false }).then(({ url }) => void process.stdout.write(`${url}\n`));
