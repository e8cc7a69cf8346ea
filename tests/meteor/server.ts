/** Runs inside Meteor (`npm run test:meteor`), on mocha's globals. */
import { serverSuite } from './serverSuite';

serverSuite();
