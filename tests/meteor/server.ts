/** Runs inside Meteor (`npm run test:meteor`), on mocha's globals. */
import { serverSuite } from './serverSuite';
import { signInOverDdp } from './signInOverDdp';

// The client suite runs afterwards, against the same host.
serverSuite({ signIn: signInOverDdp, staysOpen: true });
