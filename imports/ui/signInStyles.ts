/** The style sheets of the page before sign-in, in their order. They apply below the dashboard's root element only. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/signIn.css';
