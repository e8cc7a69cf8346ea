/** The style sheets of the pages after sign-in, where plain Node serves them. */
import '@fontsource-variable/inter';
import './signedInStyles';
