/** The style sheets of the page before sign-in, where plain Node serves it. */
import './styles/page.css';
import './signInStyles';
import './styles/systemFont.css';
