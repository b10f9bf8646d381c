# An application of Sinatra that writes where it stands and then waits.
require 'sinatra/base'

class App < Sinatra::Base
  set :environment, :production

  helpers do
    def answer(list)
      list.map { |item| slow(item) }
    end

    def slow(item)
      File.write(ENV['TRACE'], caller_locations(0).map { |at| "#{at.path}:#{at.lineno}" }.join("\n")); sleep 1000
      item
    end
  end

  get '/work' do
    answer([1])
    'done'
  end
end

run App
