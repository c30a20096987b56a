/// Begins the page in a browser.
import { mount } from 'svelte';
import './app.css';
import { browserHost } from './host/browser';
import { createApp } from './state/app.svelte';
import App from './views/App.svelte';

const app = createApp(browserHost());
const target = document.getElementById('app');
if (target) mount(App, { target });
app.start();
