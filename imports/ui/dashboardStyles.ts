/** All of the dashboard's style sheets, in their order. They apply below its root element only. */
import './signInStyles';
import './signedInStyles';
