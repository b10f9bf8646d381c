// A server that dies while it handles a request: the native parser calls JavaScript out of the event loop.
const truth = require('./truth.js');
const http = require('http');

class Application {
  constructor() {
    this.handled = 0;
    this.routes = new Map([['/die', (request, response) => this.die(request, response)]]);
  }
  handle(request, response) {
    this.handled += 1;
    return this.routes.get(request.url)(request, response);
  }
  die(request, response) {
    truth.die();
  }
}

const application = new Application();
const server = http.createServer((request, response) => application.handle(request, response));
server.listen('socket', function listening() {
  http.get({ socketPath: 'socket', path: '/die', headers: { 'x-known': 'header' } });
});
