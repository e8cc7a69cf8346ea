/** The server of `npm start`, without its dashboard. */
import { startServer } from '../../imports/host/node/startServer';
import { reportUsage } from './reportUsage';

startServer({ dashboard: false })
  .then(({ url }) => {
    process.send?.(url);
    reportUsage();
  })
  .catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
